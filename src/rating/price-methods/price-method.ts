import type { Static, TObject } from 'typebox';
import type { Decimal } from '../../kernel/numbers/money.js';
import { readStoredRates } from './stored-rates.js';

/** What a row is asked to price. */
export interface PricedUsage {
  readonly quantity: Decimal;
  /** Volume of the period so far; zero when the attribute is not metered. */
  readonly counterBefore: Decimal;
}

/** The part of a volume that one tier priced; what is taken back is below zero. */
export interface TierPart {
  readonly tierNum: number;
  /** The part covers (from, to]. */
  readonly from: Decimal;
  readonly to: Decimal;
  readonly volume: Decimal;
  readonly unitRate: Decimal;
  readonly isFlat: boolean;
  readonly amount: Decimal;
}

export interface PriceResult {
  readonly ok: true;
  /** The row's own rate, or the average of its tiers. */
  readonly rate: Decimal;
  /** Exact: nothing is rounded here. */
  readonly amount: Decimal;
  /** Only of a method that has tiers. */
  readonly tiers?: readonly TierPart[];
  /** Only of a method that sells packages. */
  readonly packages?: PackageCount;
}

/** How many packages the volume of a period has begun, before the usage and with it. */
export interface PackageCount {
  readonly size: Decimal;
  readonly before: Decimal;
  readonly after: Decimal;
}

/** The volume lies above the last tier, and that is closed. */
export interface VolumeAboveTiers {
  readonly ok: false;
  readonly volume: Decimal;
  readonly volumeMax: Decimal;
}

export type PriceAnswer = PriceResult | VolumeAboveTiers;

/** One file of this folder: its name, the schema of its rate fields on the wire, its arithmetic. */
interface PriceMethodDeclaration<Name extends string, Rates extends TObject> {
  readonly name: Name;
  readonly rates: Rates;
  price(rates: Static<Rates>, usage: PricedUsage): PriceAnswer;
  /** What a schema cannot say about the rates: one message per fault, for a 400. */
  check?(rates: Static<Rates>): string[];
}

export interface PriceMethod<
  Name extends string = string,
  Rates extends TObject = TObject,
> extends PriceMethodDeclaration<Name, Rates> {
  check(rates: Static<Rates>): string[];
  /** A price function over stored rates, decoded once; `null` when they are not of this method. */
  compile(stored: unknown): ((usage: PricedUsage) => PriceAnswer) | null;
}

/** Adds to a declaration what follows from it, so that a method's file holds only what is its own. */
export function priceMethod<const Name extends string, Rates extends TObject>(
  declaration: PriceMethodDeclaration<Name, Rates>,
): PriceMethod<Name, Rates> {
  return {
    check: () => [],
    ...declaration,
    compile(stored) {
      const rates = readStoredRates(declaration.rates, stored);
      return rates === null ? null : (usage) => declaration.price(rates, usage);
    },
  };
}
