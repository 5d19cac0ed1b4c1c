import type { ReactNode } from 'react';

/** Says of a period whose last day is not over what that means: it may be billed all the same. */
export const NotOver = ({ periodEnd }: { readonly periodEnd: string }): ReactNode => (
  <p role="status" className="open">
    {periodEnd >= new Date().toISOString().slice(0, 10)
      ? `This period ends on ${periodEnd}: usage of it may still come.`
      : ''}
  </p>
);
