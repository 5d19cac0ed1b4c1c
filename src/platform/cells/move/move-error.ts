/** What keeps a tenant from being moved, and is not helped by trying again. */
export class MoveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveError';
  }
}
