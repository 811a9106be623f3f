const paths = {
  microphone: 'M10 3a2.500 2.500 0 0 0-2.500 2.500v4a2.500 2.500 0 0 0 5 0v-4A2.500 2.500 0 0 0 10 3zM5 9.500a5 5 0 0 0 10 0M10 14.500V17M7.500 17h5',
  loud: 'M3.500 8v4h2.500l4 3.500v-11L6 8zM12.800 7.500a3.500 3.500 0 0 1 0 5M15 5.500a6.300 6.300 0 0 1 0 9',
  quiet: 'M3.500 8v4h2.500l4 3.500v-11L6 8zM13 8l4 4M17 8l-4 4',
} as const;

/** A drawing that says nothing by itself: the control it stands in has the words. */
export function VoiceIcon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
