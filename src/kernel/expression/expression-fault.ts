/** Why an expression is refused, and where in it. */
export class ExpressionFault extends Error {
  readonly position: number | null;

  constructor(message: string, position: number | null = null) {
    super(message);
    this.position = position;
  }
}

/** An expression has used up what one may cost. */
export class CostFault extends ExpressionFault {
  constructor() {
    super('The expression costs more than it may.');
  }
}
