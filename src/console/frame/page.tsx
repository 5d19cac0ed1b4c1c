import { useEffect, useRef, type ReactNode } from 'react';
import { titleOf } from '../shown/values.tsx';

/** Whether a page was shown before: the first keeps the focus where the browser put it. */
let isAfterAnother = false;

/** A page: its title is that of the tab, and gets the focus when somebody comes from another one. */
export function Page({
  title,
  above,
  children,
}: {
  readonly title: string;
  /** Where this page belongs, before its title. */
  readonly above?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Durabill console`;
  }, [title]);
  useEffect(() => {
    if (isAfterAnother) heading.current?.focus();
    isAfterAnother = true;
  }, []);
  return (
    <>
      {above}
      <h1 ref={heading} tabIndex={-1}>
        {titleOf(title)}
      </h1>
      {children}
    </>
  );
}

/** The way down to this page. */
export const Trail = ({ children }: { readonly children: readonly ReactNode[] }): ReactNode => (
  <nav aria-label="Where this is" className="trail">
    <ol>
      {children.map((one, index) => (
        <li key={index}>{one}</li>
      ))}
    </ol>
  </nav>
);

/** A part of a page with its heading. */
export const Section = ({
  title,
  id,
  children,
}: {
  /** Where a link of the same page leads to it. */
  readonly id?: string;
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode => (
  <section id={id} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);
