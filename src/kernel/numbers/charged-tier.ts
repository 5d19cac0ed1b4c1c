/** What one tier of a price has charged of an item; decimals are exact decimal text. */
export interface ChargedTier {
  readonly tierNum: number;
  /** It covers (from, to]; null: without end. */
  readonly from: string;
  readonly to: string | null;
  /** What of the volume lies in it. */
  readonly volume: string;
  /** Amount per unit, or of the whole band where it is flat. */
  readonly unitRate: string;
  readonly isFlat: boolean;
  readonly amount: string;
}
