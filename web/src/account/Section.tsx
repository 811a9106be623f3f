import { useEffect, useId, useRef, type ReactNode } from 'react';

interface Props {
  title: string;
  /** What the part shows at the moment. When that changes and takes the focused control away, the focus stays here. */
  stage: string;
  children: ReactNode;
}

/** A part of what keeps an account safe. */
export function Section({ title, stage, children }: Props) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(stage);
  const within = useRef(false); // the focus was here last: what loads by itself takes it from nobody
  useEffect(() => {
    if (shown.current === stage) return;
    shown.current = stage;
    if (within.current && document.activeElement === document.body) heading.current?.focus();
  }, [stage]);
  return (
    <section
      aria-labelledby={id}
      onFocus={() => (within.current = true)}
      onBlur={(event) => {
        if (event.relatedTarget) within.current = event.currentTarget.contains(event.relatedTarget);
      }}
    >
      <h3 id={id} ref={heading} tabIndex={-1}>
        {title}
      </h3>
      {children}
    </section>
  );
}
