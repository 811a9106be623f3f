import { afterAll, vi } from 'vitest';

// A component may still be fetching a part of itself (React.lazy, import())
// when the last test of a file has ended. Vitest then takes the environment
// away under it and counts that as an error, on a slow machine only.
afterAll(() => vi.dynamicImportSettled());
