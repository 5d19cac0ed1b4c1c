/**
 * How a charge came about, as far as the console draws it. The document has it as an object without
 * members; test/unit/console-explanation.test.ts holds these to what rating writes.
 */
export interface Explanation {
  readonly date: string;
  readonly service: { readonly name: string; readonly code: string | null };
  readonly contractLine: {
    readonly contractNumber: string;
    readonly serviceInstanceId: string | null;
  } | null;
  readonly card: {
    readonly source: string;
    readonly currency: string;
    readonly versionNo: number | string;
    readonly fromDate: string;
    readonly note?: string;
  };
  readonly rows: readonly ExplainedRow[];
  readonly steps: readonly ExplainedStep[];
  readonly adjustments?: readonly {
    readonly adjustmentId: string;
    readonly kind: string;
    readonly value: string;
    readonly before: string;
    readonly after: string;
  }[];
  readonly total: {
    readonly parts: readonly { readonly name: string; readonly amount: string }[];
    readonly amount: string;
    readonly currency: string;
  };
  readonly credits?: readonly {
    readonly grantId: string;
    readonly externalId: string;
    readonly kind: string;
    readonly amount: string;
  }[];
}

export interface ExplainedRow {
  readonly row: {
    readonly id: string;
    readonly label: string;
    readonly attributeName: string;
    readonly priceMethod: string;
  };
  readonly quantity: string;
  readonly counter: {
    readonly frequency: string;
    readonly periodStart: string;
    readonly before: string;
    readonly after: string;
  } | null;
  readonly tiers: readonly ExplainedTier[];
  readonly rate: string;
  readonly amount: string;
}

export interface ExplainedTier {
  readonly tierNum: number | string;
  readonly from: string;
  readonly to: string;
  readonly volume: string;
  readonly unitRate: string;
  readonly isFlat: boolean;
  readonly amount: string;
}

export interface ExplainedStep {
  readonly logic: string;
  readonly name: string;
  readonly label: string | null;
  readonly formula: string;
  readonly value: string;
}
