type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * The properties of `values` that are not `undefined`, as optional ones: `{ a: 1, b: undefined }`
 * becomes `{ a: 1 }`. Of a change, an absent field leaves its column alone; and an object with a
 * property that is `undefined` is not assignable to one that may lack it.
 */
export function defined<T extends object>(values: T): Defined<T> {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<T>;
}
