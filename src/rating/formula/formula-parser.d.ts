/** What the generated parser returns; `offset` counts characters from 0. */
export type SyntaxNode =
  | { readonly kind: 'number'; readonly text: string; readonly offset: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string; readonly offset: number }
  | { readonly kind: 'negate'; readonly operand: SyntaxNode }
  | {
      readonly kind: 'round';
      readonly name: 'Ceil' | 'Floor' | 'Round';
      readonly operand: SyntaxNode;
    }
  | {
      readonly kind: 'price';
      readonly attribute: string;
      readonly quantity: SyntaxNode;
      readonly offset: number;
    }
  | {
      readonly kind: 'chain';
      readonly first: SyntaxNode;
      readonly rest: readonly {
        readonly operator: '+' | '-' | '*' | '/';
        readonly operand: SyntaxNode;
      }[];
    };

export function parse(formula: string): SyntaxNode;

export class SyntaxError extends Error {
  readonly location: { readonly start: { readonly offset: number } };
}
