/** A dot on a line: the sign of the house. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 16 24" width="16" height="24" aria-hidden="true">
      <path d="M8 2v5.5M8 16.5V22" />
      <circle cx="8" cy="12" r="4.2" />
    </svg>
  );
}
