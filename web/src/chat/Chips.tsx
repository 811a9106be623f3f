import { Link } from 'wouter';
import { useWords } from '../i18n/index.ts';
import type { Chip } from './chips.ts';

/** Links that go with an answer. They are anchors: they open in a new tab, and by the keyboard (GRND-17). */
export function Chips({ chips }: { chips: Chip[] }) {
  const words = useWords();
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label={words.chips}>
      {chips.map((chip) => (
        <li key={chip.href}>
          <ChipLink href={chip.href}>{chip.label}</ChipLink>
        </li>
      ))}
    </ul>
  );
}

interface LinkProps {
  href: string;
  className?: string;
  title?: string;
  children: React.ReactNode;
}

/** A link to a page of this program, or of somebody else's. */
export function ChipLink({ href, children, ...rest }: LinkProps) {
  if (href.startsWith('/')) {
    return (
      <Link href={href} {...rest}>
        {children}
      </Link>
    );
  }
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" {...rest}>
      {children}
    </a>
  );
}
