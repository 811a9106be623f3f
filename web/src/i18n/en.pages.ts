// The words of the pages Contexts and Settings.

export const enPages = {
  tabContexts: 'Contexts',
  tabSettings: 'Settings',
  contexts: 'Contexts',
  settings: 'Settings',
};
