import { Link } from 'wouter';
import { useLearning } from '../api/learning.ts';
import { useWords } from '../i18n/index.ts';
import { learns } from './standing.ts';

/** Says once, to who rates an answer for the first time, that something is learnt from it, and where to say no. */
export default function FirstThumb() {
  const words = useWords();
  const { data } = useLearning();
  if (!data || !learns(data)) return null;
  return (
    <p className="first-thumb" role="status">
      {words.firstThumb} <Link href="/settings/learning">{words.firstThumbMore}</Link>
    </p>
  );
}
