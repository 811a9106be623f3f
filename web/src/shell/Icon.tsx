const paths = {
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  more: 'M4.5 10h.01M10 10h.01M15.500 10h.01',
  close: 'M5 5l10 10M15 5L5 15',
  clip: 'M13.500 6.500v6.750a3.500 3.500 0 0 1-7 0V5.750a2.250 2.250 0 0 1 4.500 0v7a1 1 0 0 1-2 0V6.500',
  send: 'M10 16V4.500M5 9.200l5-4.700 5 4.700',
  stop: 'M6 6h8v8H6z',
  down: 'M10 4v11M5 10.500l5 5 5-5',
  document: 'M5 3h7l3 3v11H5zM7.500 8.500h5M7.500 11h5M7.500 13.500h3',
  person: 'M10 10a3.250 3.250 0 1 0 0-6.500 3.250 3.250 0 0 0 0 6.500zM3.750 16.500c.6-3 3.200-4.250 6.250-4.250s5.650 1.250 6.250 4.250',
  left: 'M12 4.500L6.500 10l5.500 5.500',
  right: 'M8 4.500l5.500 5.500L8 15.500',
  out: 'M8 5h7v7M15 5l-9.500 9.500',
  globe: 'M10 3.250a6.750 6.750 0 1 0 0 13.500 6.750 6.750 0 0 0 0-13.500zM3.250 10h13.500M10 3.250c2.400 2 2.900 4.500 2.900 6.750s-.5 4.750-2.900 6.750c-2.400-2-2.900-4.500-2.900-6.750s.5-4.750 2.900-6.750z',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  chat: 'M3.500 4.500h13v9H9l-4 3v-3H3.500z',
  branch: 'M6 3.500v13M6 9c0 3 8 1 8 5M14 16.500v-2.500M6 6.500h.01',
  settings: 'M3.500 6h6M13.500 6h3M3.500 14h3M10.500 14h6M11.500 4v4M8.500 12v4',
  edit: 'M4 16l.8-3.400 8.700-8.700 2.600 2.600-8.700 8.700zM11.800 5.600l2.600 2.600',
  copy: 'M7.500 7.500h8.500v8.500H7.500zM4 12.500v-8.500h8.500',
  check: 'M4.500 10.500l3.800 3.800 7.200-8',
  again: 'M15.500 10a5.500 5.500 0 1 1-1.700-4M15.800 3.200v3.300h-3.300',
  coin: 'M10 3.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM10 7v6M12 8.200c-1-1-3.700-.8-3.700.6 0 1.700 3.700.8 3.700 2.500 0 1.400-2.900 1.600-4 .4',
  gauge: 'M3.500 14.500a6.500 6.500 0 1 1 13 0M10 14.500l3.500-4.500',
} as const;

const filled: ReadonlySet<string> = new Set(['stop']);

export type IconName = keyof typeof paths;

/** A drawing that says nothing by itself: the control it stands in has the words. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={filled.has(name) ? 'icon filled' : 'icon'} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
