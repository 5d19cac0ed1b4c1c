import type { ReactNode } from 'react';
import { linesOf, type Written } from '../api/written-json.ts';
import { None } from './values.tsx';

/** JSON as it was written, in lines. */
export const Json = ({ of }: { readonly of: Written | null | undefined }): ReactNode =>
  of === null || of === undefined ? <None /> : <pre>{linesOf(of)}</pre>;
