import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../api/ask.ts';
import { Failure } from '../api/failure.ts';
import type { Report } from '../api/gen.ts';
import { useWords } from '../i18n/index.ts';
import { Card } from '../operate/parts.tsx';

/** Which program answers here, by its own account (UI-14). */
export function About() {
  const words = useWords();
  const health = useQuery({ queryKey: ['health'], queryFn: ({ signal }) => ask('health', { signal, once: true }), staleTime: 30_000 });
  const report = health.data ?? reportIn(health.error);
  return (
    <Card title={words.settingsAbout}>
      {health.isPending && (
        <p role="status" className="hint">
          {words.factsLoading}
        </p>
      )}
      {health.isError && !report && (
        <p role="alert" className="problem">
          {health.error instanceof Failure && health.error.message ? health.error.message : words.factsFailed}
        </p>
      )}
      {report && (
        <dl className="facts">
          <dt>{words.aboutVersion}</dt>
          <dd>{report.version}</dd>
          <dt>{words.aboutBuild}</dt>
          <dd className="monospace">{[report.build.revision?.slice(0, 12), report.build.platform, report.build.go].filter(Boolean).join(' · ')}</dd>
          <dt>{words.aboutState}</dt>
          <dd>{ailing(report).length === 0 ? words.aboutWell : words.aboutAiling(ailing(report).join(', '))}</dd>
        </dl>
      )}
      <p>
        <Link href="/docs">{words.aboutDocs}</Link>
      </p>
    </Card>
  );
}

/** What does not answer makes the whole a failure, which holds the same report. */
function reportIn(error: unknown): Report | null {
  const details = error instanceof Failure ? (error.details as Partial<Report> | null | undefined) : null;
  return details?.checks && details.build ? (details as Report) : null;
}

function ailing(report: Report): string[] {
  return Object.entries(report.checks).flatMap(([name, check]) => (check.status === 'ok' ? [] : [name]));
}
