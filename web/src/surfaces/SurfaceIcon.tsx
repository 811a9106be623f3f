import type { CSSProperties } from 'react';

/** The drawings an assistant may choose by name; one that names another has the spark. */
const paths: Record<string, string> = {
  sparkle: 'M10 3l1.700 5.300L17 10l-5.300 1.700L10 17l-1.700-5.300L3 10l5.300-1.700zM15.500 3v3M14 4.500h3',
  chat: 'M3.500 4.500h13v9H9l-4 3v-3H3.500z',
  note: 'M5 3h7l3 3v11H5zM7.500 8.500h5M7.500 11h5M7.500 13.500h3',
  scales: 'M10 3.500v13M6 16.500h8M4 6h12M4 6l-2 5.500h4zM16 6l-2 5.500h4z',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM12.700 12.700L16.500 16.500',
  inbox: 'M3.500 11l2.500-6.500h8L16.500 11v5h-13zM3.500 11H7.500l1 2h3l1-2h4',
};

/** A drawing on an assistant's colour; it says nothing by itself. */
export function SurfaceIcon({ name, accent }: { name: string; accent: string }) {
  const marked = /^#[0-9a-f]{6}$/i.test(accent);
  return (
    <span className="surface-icon" data-marked={marked || undefined} style={marked ? ({ '--mark': accent } as CSSProperties) : undefined} aria-hidden="true">
      <svg className="icon" viewBox="0 0 20 20" width="20" height="20">
        <path d={paths[name] ?? paths['sparkle']!} />
      </svg>
    </span>
  );
}
