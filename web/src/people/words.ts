// The words of the administrators' pages about people and plans. They come with
// the pages: nobody else needs them.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

export type Role = 'user' | 'power' | 'admin';
export type What = 'user.changed' | 'user.signed_out' | 'user.factor_cleared' | 'plan.changed' | 'key.created' | 'key.revoked';

const en = {
  people: 'People',
  find: 'Find by e-mail or name',
  role: 'Role',
  plan: 'Plan',
  state: 'State',
  any: 'All',
  none: 'Nobody is like this.',
  more: 'Show more',
  roleName: (role: Role) => ({ user: 'User', power: 'Power user', admin: 'Administrator' })[role],
  roleMeans: (role: Role) =>
    ({
      user: 'Uses their own conversations, documents and artifacts.',
      power: 'Proposes changes of what everybody uses, too.',
      admin: 'Decides on changes, and looks after people and plans.',
    })[role],
  planName: (plan: string) => ({ free: 'Free', paid: 'Paid', unverified: 'Unverified' } as Record<string, string>)[plan] ?? plan,
  active: 'Active',
  suspended: 'Suspended',
  unverified: 'Address not confirmed',
  lastSeen: 'Last seen',
  never: 'never',
  today: 'Today',
  thisMonth: 'This month',
  tokensOf: (used: string, of: string) => `${used} of ${of} tokens today`,
  tokens: (used: string) => `${used} tokens today`,
  unbounded: 'no bound',
  ofBound: (used: string, of: string) => `${used} of ${of}`,

  back: 'All people',
  notFound: 'There is no such account.',
  loadFailed: 'This account could not be loaded.',
  account: 'Account',
  name: 'Name',
  since: 'Since',
  signIns: 'Open sign-ins',
  secondFactor: 'Second factor',
  on: 'On',
  off: 'Off',
  you: 'you',

  use: 'Use and limits',
  tokensToday: 'Tokens today',
  costMonth: 'Cost this month',
  filesKept: 'Files kept',
  filesSize: 'Their size',
  ownBudget: 'A budget of their own',
  planBudget: 'The budget of the plan',
  ownNumbers: 'Numbers of their own',
  noOwnNumbers: 'None: those of the plan.',

  changeRole: 'Role and plan',
  changeBudget: 'Budget',
  changeLimits: 'Limits',
  signOut: 'Sign out everywhere',
  suspend: 'Suspend',
  reactivate: 'Reactivate',
  clearFactor: 'Clear second factor',
  save: 'Save',

  changeRoleOf: (who: string) => `Role and plan of ${who}`,
  changeRoleMeans: 'It holds from their next request on. Nobody has to sign in again.',
  stepDown: 'You give up your own role: afterwards you can no longer see this page.',
  changeBudgetOf: (who: string) => `Budget of ${who}`,
  budgetOfPlan: 'As the plan says',
  budgetOwn: 'Of their own',
  tokensPerDay: 'Tokens a day',
  usdPerMonth: 'US dollars a month',
  zeroIsNone: '0 is no bound. It is checked before each call of a model; one that is under way is not cut off.',
  changeLimitsOf: (who: string) => `Limits of ${who}`,
  changeLimitsMeans: 'What is left empty is as the plan says.',
  limitsUnverified: 'They count once the address is confirmed.',
  signOutOf: (who: string) => `Sign ${who} out everywhere?`,
  signOutMeans: (n: number) =>
    `${n === 1 ? 'One open sign-in ends' : `${n} open sign-ins end`} at once, in every browser and app; open streams within half a minute. Answers that are being written are finished and kept. They can sign in again.`,
  suspendOf: (who: string) => `Suspend ${who}?`,
  suspendMeans: 'They can neither sign in nor use what is signed in, until somebody reactivates the account. Nothing of theirs is deleted.',
  reactivateOf: (who: string) => `Reactivate ${who}?`,
  reactivateMeans: 'They can sign in again, and find everything as it was.',
  clearFactorOf: (who: string) => `Clear the second factor of ${who}?`,
  clearFactorMeans: 'Their password alone is enough to sign in then, until they set up another authenticator. Be sure that it is them who asks.',
  lastAdministrator: 'This is the last administrator. Make somebody else one first.',
  done: {
    role: 'The role and the plan are changed.',
    budget: 'The budget is changed.',
    limits: 'The limits are changed.',
    signOut: 'They are signed out everywhere.',
    suspend: 'The account is suspended.',
    reactivate: 'The account is active again.',
    clearFactor: 'The second factor is cleared.',
  },

  log: 'What administrators did',
  noLog: 'Nothing yet.',
  did: (what: What, became: Record<string, unknown>): string =>
    what === 'user.signed_out'
      ? 'signed out everywhere'
      : what === 'user.factor_cleared'
        ? 'second factor cleared'
        : what === 'key.created'
          ? 'access key made'
          : what === 'key.revoked'
            ? 'access key ended'
        : became['active'] === false
          ? 'suspended'
          : became['active'] === true
            ? 'reactivated'
            : 'changed',
  facts: { role: 'role', plan: 'plan', budget: 'budget', limits: 'limits' } as Record<string, string>,
  gone: 'somebody who has gone',
  planBudgetShort: 'the plan’s',
  tokensShort: (n: string) => `${n} tokens a day`,
  usdShort: (n: string) => `${n} a month`,

  plans: 'Plans',
  plansHint: 'What each plan allows. A change holds at once, everywhere, without a restart. Unverified is what an account has until its address is confirmed.',
  plansFailed: 'The plans could not be loaded.',
  number: 'Number',
  edit: 'Change',
  editPlan: (plan: string) => `Change the plan ${plan}`,
  lastChange: 'Last change',
  asShipped: 'as shipped',
  ships: (n: string) => `ships as ${n}`,
  changedBy: (who: string, at: string) => (who ? `Changed by ${who}, ${at}` : `Changed ${at}`),
  bounds: (least: string, most: string) => `${least} to ${most}`,
  bySetting: (setting: string) => `This server’s setting ${setting} holds instead.`,
  planChanged: 'Somebody else has changed this plan meanwhile. Close this, and look again.',
  planDone: (plan: string) => `The plan ${plan} is changed.`,
  reset: 'All as shipped',
  smaller: 'Nothing that is there is taken away: what is beyond a smaller number stays, and nothing is added to it.',
  numbers: {
    chat_per_minute: ['Turns', 'a minute; tools and workflows begun as well'],
    tokens_per_day: ['Tokens', 'a day; 0 is no bound'],
    usd_per_month: ['US dollars', 'a month, where the price is known; 0 is no bound'],
    decode_minutes: ['Writing time', 'minutes that the models of one run may write'],
    streams: ['Streams', 'at once'],
    sockets: ['WebSockets', 'at once'],
    file_mib: ['One file', 'MiB'],
    storage_mib: ['All files', 'MiB together'],
    files: ['Number of files', ''],
    passages: ['Passages', 'of documents in the index'],
    documents_under_way: ['Documents under way', 'sent and not read yet'],
    documents_mib: ['Their size', 'MiB together; one alone may be larger'],
    uploads_per_minute: ['Files sent', 'a minute'],
    changes_per_hour: ['Changes proposed', 'an hour'],
    checks_per_hour: ['Changes checked', 'an hour, without being made'],
    web_days: ['Sign-in in a browser', 'days without use'],
    mobile_days: ['Sign-in in an app', 'days without use'],
  } as Record<string, [string, string]>,
};

export type PeopleWords = typeof en;

const de: PeopleWords = {
  people: 'Personen',
  find: 'Nach E-Mail oder Name suchen',
  role: 'Rolle',
  plan: 'Tarif',
  state: 'Zustand',
  any: 'Alle',
  none: 'So ist niemand.',
  more: 'Mehr zeigen',
  roleName: (role) => ({ user: 'Nutzer', power: 'Fortgeschritten', admin: 'Verwaltung' })[role],
  roleMeans: (role) =>
    ({
      user: 'Nutzt eigene Gespräche, Dokumente und Artefakte.',
      power: 'Schlägt auch Änderungen an dem vor, was alle nutzen.',
      admin: 'Entscheidet über Änderungen und kümmert sich um Personen und Tarife.',
    })[role],
  planName: (plan) => ({ free: 'Frei', paid: 'Bezahlt', unverified: 'Unbestätigt' } as Record<string, string>)[plan] ?? plan,
  active: 'Aktiv',
  suspended: 'Gesperrt',
  unverified: 'Adresse nicht bestätigt',
  lastSeen: 'Zuletzt da',
  never: 'nie',
  today: 'Heute',
  thisMonth: 'Diesen Monat',
  tokensOf: (used, of) => `${used} von ${of} Token heute`,
  tokens: (used) => `${used} Token heute`,
  unbounded: 'ohne Grenze',
  ofBound: (used, of) => `${used} von ${of}`,

  back: 'Alle Personen',
  notFound: 'Dieses Konto gibt es nicht.',
  loadFailed: 'Dieses Konto konnte nicht geladen werden.',
  account: 'Konto',
  name: 'Name',
  since: 'Seit',
  signIns: 'Offene Anmeldungen',
  secondFactor: 'Zweiter Faktor',
  on: 'An',
  off: 'Aus',
  you: 'du',

  use: 'Verbrauch und Grenzen',
  tokensToday: 'Token heute',
  costMonth: 'Kosten diesen Monat',
  filesKept: 'Dateien',
  filesSize: 'Ihre Größe',
  ownBudget: 'Ein eigenes Budget',
  planBudget: 'Das Budget des Tarifs',
  ownNumbers: 'Eigene Grenzen',
  noOwnNumbers: 'Keine: die des Tarifs.',

  changeRole: 'Rolle und Tarif',
  changeBudget: 'Budget',
  changeLimits: 'Grenzen',
  signOut: 'Überall abmelden',
  suspend: 'Sperren',
  reactivate: 'Freigeben',
  clearFactor: 'Zweiten Faktor löschen',
  save: 'Speichern',

  changeRoleOf: (who) => `Rolle und Tarif von ${who}`,
  changeRoleMeans: 'Es gilt ab der nächsten Anfrage. Niemand muss sich neu anmelden.',
  stepDown: 'Du gibst deine eigene Rolle ab: danach siehst du diese Seite nicht mehr.',
  changeBudgetOf: (who) => `Budget von ${who}`,
  budgetOfPlan: 'Wie der Tarif sagt',
  budgetOwn: 'Ein eigenes',
  tokensPerDay: 'Token je Tag',
  usdPerMonth: 'US-Dollar je Monat',
  zeroIsNone: '0 ist ohne Grenze. Geprüft wird vor jedem Aufruf eines Modells; was läuft, wird nicht abgebrochen.',
  changeLimitsOf: (who) => `Grenzen von ${who}`,
  changeLimitsMeans: 'Was leer bleibt, ist wie im Tarif.',
  limitsUnverified: 'Sie zählen, sobald die Adresse bestätigt ist.',
  signOutOf: (who) => `${who} überall abmelden?`,
  signOutMeans: (n) =>
    `${n === 1 ? 'Eine offene Anmeldung endet' : `${n} offene Anmeldungen enden`} sofort, in jedem Browser und jeder App; offene Streams binnen einer halben Minute. Antworten, die gerade geschrieben werden, werden fertig und bleiben. Neu anmelden geht.`,
  suspendOf: (who) => `${who} sperren?`,
  suspendMeans: 'Weder anmelden noch weiterarbeiten geht dann, bis jemand das Konto freigibt. Gelöscht wird nichts.',
  reactivateOf: (who) => `${who} freigeben?`,
  reactivateMeans: 'Anmelden geht wieder, und alles ist, wie es war.',
  clearFactorOf: (who) => `Den zweiten Faktor von ${who} löschen?`,
  clearFactorMeans: 'Dann genügt zum Anmelden das Passwort, bis ein neuer Authenticator eingerichtet ist. Sei sicher, dass die Bitte von der Person selbst kommt.',
  lastAdministrator: 'Das ist die letzte Person mit der Rolle Verwaltung. Gib sie zuerst jemand anderem.',
  done: {
    role: 'Rolle und Tarif sind geändert.',
    budget: 'Das Budget ist geändert.',
    limits: 'Die Grenzen sind geändert.',
    signOut: 'Überall abgemeldet.',
    suspend: 'Das Konto ist gesperrt.',
    reactivate: 'Das Konto ist wieder frei.',
    clearFactor: 'Der zweite Faktor ist gelöscht.',
  },

  log: 'Was die Verwaltung getan hat',
  noLog: 'Noch nichts.',
  did: (what, became) =>
    what === 'user.signed_out'
      ? 'überall abgemeldet'
      : what === 'user.factor_cleared'
        ? 'zweiten Faktor gelöscht'
        : what === 'key.created'
          ? 'Zugangsschlüssel angelegt'
          : what === 'key.revoked'
            ? 'Zugangsschlüssel beendet'
        : became['active'] === false
          ? 'gesperrt'
          : became['active'] === true
            ? 'freigegeben'
            : 'geändert',
  facts: { role: 'Rolle', plan: 'Tarif', budget: 'Budget', limits: 'Grenzen' },
  gone: 'jemand, der nicht mehr da ist',
  planBudgetShort: 'wie im Tarif',
  tokensShort: (n) => `${n} Token je Tag`,
  usdShort: (n) => `${n} je Monat`,

  plans: 'Tarife',
  plansHint: 'Was jeder Tarif erlaubt. Eine Änderung gilt sofort und überall, ohne Neustart. Unbestätigt ist ein Konto, bis seine Adresse bestätigt ist.',
  plansFailed: 'Die Tarife konnten nicht geladen werden.',
  number: 'Zahl',
  edit: 'Ändern',
  editPlan: (plan) => `Den Tarif ${plan} ändern`,
  lastChange: 'Letzte Änderung',
  asShipped: 'wie ausgeliefert',
  ships: (n) => `ausgeliefert: ${n}`,
  changedBy: (who, at) => (who ? `Geändert von ${who}, ${at}` : `Geändert ${at}`),
  bounds: (least, most) => `${least} bis ${most}`,
  bySetting: (setting) => `Stattdessen gilt die Einstellung ${setting} dieses Servers.`,
  planChanged: 'Jemand anderes hat diesen Tarif inzwischen geändert. Schließ das hier und sieh noch einmal nach.',
  planDone: (plan) => `Der Tarif ${plan} ist geändert.`,
  reset: 'Alles wie ausgeliefert',
  smaller: 'Nichts, was da ist, wird weggenommen: Was über einer kleineren Zahl liegt, bleibt, und nichts kommt hinzu.',
  numbers: {
    chat_per_minute: ['Anfragen', 'je Minute; auch begonnene Werkzeuge und Abläufe'],
    tokens_per_day: ['Token', 'je Tag; 0 ist ohne Grenze'],
    usd_per_month: ['US-Dollar', 'je Monat, wo der Preis bekannt ist; 0 ist ohne Grenze'],
    decode_minutes: ['Schreibzeit', 'Minuten, die die Modelle eines Laufs schreiben dürfen'],
    streams: ['Streams', 'zugleich'],
    sockets: ['WebSockets', 'zugleich'],
    file_mib: ['Eine Datei', 'MiB'],
    storage_mib: ['Alle Dateien', 'MiB zusammen'],
    files: ['Anzahl der Dateien', ''],
    passages: ['Abschnitte', 'von Dokumenten im Index'],
    documents_under_way: ['Dokumente unterwegs', 'gesendet und noch nicht gelesen'],
    documents_mib: ['Ihre Größe', 'MiB zusammen; eines allein darf größer sein'],
    uploads_per_minute: ['Gesendete Dateien', 'je Minute'],
    changes_per_hour: ['Vorgeschlagene Änderungen', 'je Stunde'],
    checks_per_hour: ['Geprüfte Änderungen', 'je Stunde, ohne dass sie gemacht werden'],
    web_days: ['Anmeldung im Browser', 'Tage ohne Nutzung'],
    mobile_days: ['Anmeldung in einer App', 'Tage ohne Nutzung'],
  },
};

export const dictionaries: Record<Language, PeopleWords> = { en, de };

export function usePeopleWords(): PeopleWords {
  return dictionaries[useStore(language)];
}
