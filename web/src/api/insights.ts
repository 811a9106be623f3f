// How the place is used, for who runs it (GRND-38).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, type Data } from './ask.ts';

export type Insights = Data<'insights'>;
export type Span = 7 | 28 | 90;

/** The days of the last weeks, as the reader's clock has them; surface: the path of an assistant, for its turns alone. */
export function useInsights(days: Span, surface = '') {
  const tz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return useQuery({
    queryKey: ['insights', days, tz, surface],
    queryFn: ({ signal }) => ask('insights', { query: { days, tz, ...(surface ? { surface } : {}) }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}
