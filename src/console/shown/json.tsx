import type { ReactNode } from 'react';
import { None } from './values.tsx';

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

/** Whatever is JSON, as text. */
export const Json = ({ of }: { readonly of: unknown }): ReactNode =>
  of === null || of === undefined ? <None /> : <pre>{jsonText(of)}</pre>;
