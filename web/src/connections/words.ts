// The words of the page Connections, which come with it.

import { Failure } from '../api/failure.ts';
import { accountSentence } from '../account/errors.ts';
import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  lead: 'Accounts you have elsewhere, and let tools act with: to publish a post, or to answer a comment. A tool asks before it does so, and its access is never shown.',
  loadFailed: 'Your connections could not be loaded.',
  none: 'There is nothing to connect here. An administrator can add a place, as an artifact of the kind connection.spec.',

  notSetUp: 'Not set up yet.',
  askAdmin: 'An administrator has to set it up first.',
  steps: (title: string): [string, string, string] => [
    `Make an app at ${title}, and give it this redirect URL, to the letter:`,
    'Let this program reach the hosts of the place, in the setting LIMINAL_WEB_ALLOW.',
    'Set the app’s client here. docs/connections.md says more.',
  ],
  copyRedirect: 'Copy the redirect URL',
  inAPI: 'In the documentation of the API',
  gone: 'This place is not set up here any more, so no tool acts with the account.',

  notConnected: 'Not connected.',
  connected: 'Connected.',
  as: 'Account',
  since: 'Connected since',
  until: 'Access until',
  renewed: 'run out; it is renewed at the next use, where the place allows that',
  granted: 'What was granted',
  refused: (title: string) => `${title} does not take your account any more. Connect it again.`,

  connect: 'Connect',
  connectOf: (title: string) => `Connect ${title}`,
  again: 'Connect again',
  againOf: (title: string) => `Connect ${title} again`,
  end: 'Disconnect',
  endOf: (title: string) => `Disconnect ${title}`,
  endAsk: (title: string) => `Disconnect ${title}? Tools can do nothing there in your name any more, and what waits for you does nothing more either.`,
  ended: (title: string, told: boolean) =>
    told ? `${title} is disconnected, and took its access back.` : `${title} is disconnected here. It did not say that it took its access back, which runs out by itself.`,
  connectedNow: (title: string, name: string) => (name ? `${title} is connected, as ${name}.` : `${title} is connected.`),

  client: 'Set the client',
  clientOf: (title: string) => `Set the client of ${title}`,
  clientID: 'Client id',
  clientIDHint: 'Empty: the one that the connection.spec names.',
  clientSecret: 'Client secret',
  clientHint: 'It takes the place of what was set before, is sealed, and is never shown again.',
  save: 'Set',
  clientKept: (title: string) => `The client of ${title} is set. People can connect.`,
  clientKeptOnly: (title: string) => `The client of ${title} is kept, but people cannot connect yet: see whether LIMINAL_WEB_ALLOW is set, and whether the client has an id.`,
  clientEnd: 'Take the client back',
  clientEndOf: (title: string) => `Take the client back: ${title}`,
  clientEndAsk: (title: string) => `Take back the client of ${title}? Nobody can connect then, and no tool acts there.`,
  clientEnded: (title: string) => `The client of ${title} is taken back.`,

  failed: 'The account was not connected. Begin again; if it stays so, tell whoever runs this server.',
  reasons: {
    denied: 'You did not allow the connection there. Begin again if that was by mistake.',
    server_refused: 'The place refused the connection. Begin again; if it stays so, tell whoever runs this server.',
    no_code: 'The place sent no code. Begin again.',
    code_refused: 'The place does not take the code it gave; codes work once and for a short time. Begin again.',
    state_unknown: 'This connection was made already, or took longer than ten minutes. Begin again.',
    other_browser: 'This connection was begun in another browser. Begin again in this one.',
    not_configured: 'The place is not set up, or does not know this installation. An administrator checks its client.',
    upstream: 'The place cannot be reached now, or gives no answer that can be used. Try again later.',
    forbidden: 'The sign-in that began this connection has ended, or this server may not reach the place. Begin again; if it stays so, tell whoever runs this server.',
    rate_limited: 'That was too often. Wait a little, and begin again.',
  } as Record<string, string>,
};

export type ConnectionWords = typeof en;

const de: ConnectionWords = {
  lead: 'Konten, die du anderswo hast und mit denen Werkzeuge handeln dürfen: einen Beitrag veröffentlichen, einen Kommentar beantworten. Ein Werkzeug fragt vorher, und sein Zugang wird nie gezeigt.',
  loadFailed: 'Deine Verbindungen konnten nicht geladen werden.',
  none: 'Hier gibt es nichts zu verbinden. Die Verwaltung kann einen Ort hinzufügen, als Artefakt der Art connection.spec.',

  notSetUp: 'Noch nicht eingerichtet.',
  askAdmin: 'Die Verwaltung muss das zuerst einrichten.',
  steps: (title) => [
    `Lege bei ${title} eine App an und gib ihr diese Redirect-URL, Zeichen für Zeichen:`,
    'Lass dieses Programm die Hosts des Ortes erreichen, in der Einstellung LIMINAL_WEB_ALLOW.',
    'Hinterlege hier den Client der App. Mehr steht in docs/connections.md.',
  ],
  copyRedirect: 'Redirect-URL kopieren',
  inAPI: 'In der Dokumentation der API',
  gone: 'Dieser Ort ist hier nicht mehr eingerichtet, deshalb handelt kein Werkzeug mit dem Konto.',

  notConnected: 'Nicht verbunden.',
  connected: 'Verbunden.',
  as: 'Konto',
  since: 'Verbunden seit',
  until: 'Zugang bis',
  renewed: 'abgelaufen; er wird bei der nächsten Nutzung erneuert, wo der Ort das erlaubt',
  granted: 'Was erlaubt wurde',
  refused: (title) => `${title} nimmt dein Konto nicht mehr an. Verbinde es neu.`,

  connect: 'Verbinden',
  connectOf: (title) => `${title} verbinden`,
  again: 'Neu verbinden',
  againOf: (title) => `${title} neu verbinden`,
  end: 'Trennen',
  endOf: (title) => `${title} trennen`,
  endAsk: (title) => `${title} trennen? Werkzeuge können dort nichts mehr in deinem Namen tun, und auch was auf dich wartet, tut nichts mehr.`,
  ended: (title, told) =>
    told ? `${title} ist getrennt und hat den Zugang zurückgenommen.` : `${title} ist hier getrennt. Dass der Zugang zurückgenommen ist, kam nicht zurück; er läuft von selbst ab.`,
  connectedNow: (title, name) => (name ? `${title} ist verbunden, als ${name}.` : `${title} ist verbunden.`),

  client: 'Client hinterlegen',
  clientOf: (title) => `Client hinterlegen: ${title}`,
  clientID: 'Client-ID',
  clientIDHint: 'Leer: die, die in der connection.spec steht.',
  clientSecret: 'Client-Secret',
  clientHint: 'Ersetzt, was vorher hinterlegt war, wird versiegelt und nie wieder gezeigt.',
  save: 'Hinterlegen',
  clientKept: (title) => `Der Client von ${title} ist hinterlegt. Verbinden geht jetzt.`,
  clientKeptOnly: (title) => `Der Client von ${title} ist hinterlegt, verbinden geht aber noch nicht: Sieh nach, ob LIMINAL_WEB_ALLOW gesetzt ist und ob der Client eine ID hat.`,
  clientEnd: 'Client zurücknehmen',
  clientEndOf: (title) => `Client zurücknehmen: ${title}`,
  clientEndAsk: (title) => `Den Client von ${title} zurücknehmen? Dann kann sich niemand verbinden, und kein Werkzeug handelt dort.`,
  clientEnded: (title) => `Der Client von ${title} ist zurückgenommen.`,

  failed: 'Das Konto wurde nicht verbunden. Fang noch einmal an; bleibt es so, sag es denen, die diesen Server betreiben.',
  reasons: {
    denied: 'Du hast die Verbindung dort nicht erlaubt. Fang noch einmal an, wenn das ein Versehen war.',
    server_refused: 'Der Ort hat die Verbindung abgelehnt. Fang noch einmal an; bleibt es so, sag es denen, die diesen Server betreiben.',
    no_code: 'Der Ort hat keinen Code geschickt. Fang noch einmal an.',
    code_refused: 'Der Ort nimmt den Code nicht an, den er gab; Codes gelten einmal und kurz. Fang noch einmal an.',
    state_unknown: 'Diese Verbindung ist schon hergestellt oder hat länger als zehn Minuten gedauert. Fang noch einmal an.',
    other_browser: 'Diese Verbindung wurde in einem anderen Browser begonnen. Fang in diesem noch einmal an.',
    not_configured: 'Der Ort ist nicht eingerichtet oder kennt diese Installation nicht. Die Verwaltung prüft seinen Client.',
    upstream: 'Der Ort ist gerade nicht erreichbar oder gibt keine brauchbare Antwort. Versuch es später noch einmal.',
    forbidden: 'Die Anmeldung, in der das begonnen wurde, ist beendet, oder dieser Server darf den Ort nicht erreichen. Fang noch einmal an; bleibt es so, sag es denen, die diesen Server betreiben.',
    rate_limited: 'Das war zu oft. Warte ein wenig und fang noch einmal an.',
  },
};

const dictionaries: Record<Language, ConnectionWords> = { en, de };

export function useConnectionWords(): ConnectionWords {
  return dictionaries[useStore(language)];
}

/** Why an account was not connected. A reason nobody knows is not repeated: anybody may have written it into an address. */
export function whyNot(reason: string, words: ConnectionWords): string {
  return Object.hasOwn(words.reasons, reason) ? words.reasons[reason]! : words.failed;
}

/** What is said of an act that failed. */
export function connectionSentence(error: unknown, words: ConnectionWords): string {
  const reason = error instanceof Failure ? error.detail('reason') : '';
  return Object.hasOwn(words.reasons, reason) ? words.reasons[reason]! : accountSentence(error);
}
