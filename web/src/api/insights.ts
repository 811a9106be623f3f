// How the place is used, for who runs it (GRND-38).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, type Data } from './ask.ts';

export type Insights = Data<'insights'>;
export type Span = 7 | 28 | 90;

/** The days of the last weeks, as the reader's clock has them. */
export function useInsights(days: Span) {
  const tz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return useQuery({
    queryKey: ['insights', days, tz],
    queryFn: ({ signal }) => ask('insights', { query: { days, tz }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}
