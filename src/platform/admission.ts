import { problem } from '../kernel/problem.js';

/** Requests that one process takes in at a time: they are published in about a second. */
const requestsMax = 1_000;
const bytesMax = 64 * 1024 * 1024;

/**
 * The door of ingestion. What is under way is bounded by number and by size, so that more usage than
 * can be published is refused at once, and takes neither memory nor the time of what was let in
 * (docs/decisions/0151).
 */
export class Admission {
  #requests = 0;
  #bytes = 0;

  /** Lets a request of so many bytes in, until the function that is returned is called. 503. */
  enter(bytes: number): () => void {
    if (this.#requests + 1 > requestsMax || this.#bytes + bytes > bytesMax) {
      throw problem.overloaded('More usage arrives than can be taken in; send it again.');
    }
    this.#requests += 1;
    this.#bytes += bytes;
    return () => {
      this.#requests -= 1;
      this.#bytes -= bytes;
    };
  }
}
