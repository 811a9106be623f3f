// The words of the page where somebody lets a program in, which come with it.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  title: 'Let this program in?',
  wants: (name: string) => `“${name}” wants to act for you in Liminal.`,
  nameless: 'A program that gives no name wants to act for you in Liminal.',
  back: 'It is answered at',
  site: (host: string) => host,
  computer: (host: string) => `a program on this computer (${host})`,
  app: (scheme: string) => `an app on this device (${scheme})`,
  claim: 'The name is what the program says of itself; nobody has checked it.',
  vouched: (host: string) => `${host} describes it.`,
  registered: 'It registered itself, and nobody vouches for it.',
  yourself: 'Let it in only if you have just begun this yourself, in that program.',
  may: 'It may',
  only: 'It does so over the Model Context Protocol and nowhere else, for 90 days at most. You end it in the settings, under access keys.',
  as: (email: string) => `You are signed in as ${email}.`,
  notYou: 'Sign out',
  factor: 'Your account has a second factor, so this needs a code.',
  allow: 'Let it in',
  refuse: 'Refuse',
  reading: 'Looking at what it asks for …',
  impossible: 'This cannot be decided',
  nothing: 'Nothing has happened. Begin again in the program.',
  gone: 'You have decided. Go back to the program; this page can be closed.',
  badWay: 'The program’s address cannot be opened in a browser.',
};

export type ConsentWords = typeof en;

const de: ConsentWords = {
  title: 'Dieses Programm einlassen?',
  wants: (name) => `„${name}“ möchte in Liminal in deinem Namen handeln.`,
  nameless: 'Ein Programm, das keinen Namen nennt, möchte in Liminal in deinem Namen handeln.',
  back: 'Die Antwort geht an',
  site: (host) => host,
  computer: (host) => `ein Programm auf diesem Rechner (${host})`,
  app: (scheme) => `eine App auf diesem Gerät (${scheme})`,
  claim: 'Den Namen gibt sich das Programm selbst; niemand hat ihn geprüft.',
  vouched: (host) => `${host} beschreibt es.`,
  registered: 'Es hat sich selbst angemeldet, und niemand bürgt dafür.',
  yourself: 'Lass es nur ein, wenn du das gerade selbst in diesem Programm begonnen hast.',
  may: 'Es darf',
  only: 'Das geschieht nur über das Model Context Protocol, höchstens 90 Tage lang. Du beendest es in den Einstellungen, unter Zugangsschlüssel.',
  as: (email) => `Du bist als ${email} angemeldet.`,
  notYou: 'Abmelden',
  factor: 'Dein Konto hat einen zweiten Faktor, deshalb braucht es einen Code.',
  allow: 'Einlassen',
  refuse: 'Ablehnen',
  reading: 'Was es möchte, wird gelesen …',
  impossible: 'Das lässt sich nicht entscheiden',
  nothing: 'Es ist nichts geschehen. Beginne im Programm noch einmal.',
  gone: 'Du hast entschieden. Geh zurück zum Programm; diese Seite kannst du schließen.',
  badWay: 'Die Adresse des Programms lässt sich in einem Browser nicht öffnen.',
};

const dictionaries: Record<Language, ConsentWords> = { en, de };

export function useConsentWords(): ConsentWords {
  return dictionaries[useStore(language)];
}
