import type { FillYear } from '../../api/console/demo-year.js';

/** What the console's first page offers on a personal machine; what it needs is read when it is asked for. */
export const yearFiller =
  (apiUrl: () => string | undefined, now: () => Date): FillYear =>
  async (token, onProgress) => {
    const { fillYear, yearEvents } = await import('./demo-year.js');
    await fillYear({ url: apiUrl() ?? '', token }, yearEvents, now(), onProgress);
  };
