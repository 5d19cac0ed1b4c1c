import { expect } from 'chai';
import type { Sight } from './console.js';

/** Whether what has the focus shows that it has. */
const isFocusShown = `(({ activeElement: focused }) => focused !== document.body &&
  focused.matches(':focus-visible') && getComputedStyle(focused).outlineStyle !== 'none')(document)`;

const focusedText = 'document.activeElement.textContent';

/**
 * Somebody who reads pages with a keyboard alone: there is no way to point at anything. What is reached
 * shows that it has the focus, and wherever somebody stops, axe finds nothing in both themes.
 */
export class Reader {
  readonly sight: Sight;

  constructor(sight: Sight) {
    this.sight = sight;
  }

  get #keyboard() {
    return this.sight.frame.page().keyboard;
  }

  /** Goes to what has this name. */
  async reach(name: string): Promise<void> {
    await this.sight.tabTo(name);
    expect(await this.sight.frame.evaluate(isFocusShown), `focus on ${name}`).to.equal(true);
  }

  async press(name: string, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
    await this.reach(name);
    await this.#keyboard.press(key);
  }

  /** Types into a field, or the first letters of what is chosen of a list. */
  async type(name: string, text: string): Promise<void> {
    await this.reach(name);
    await this.#keyboard.type(text);
  }

  /** Presses what leads to another page, and stops there. */
  async go(name: string, title = name): Promise<void> {
    await this.press(name);
    await this.stop(title);
  }

  /** On another page, whose title has the focus. */
  async stop(title: string): Promise<void> {
    await this.sight.arrive(title);
    await this.sight.frame.waitForFunction(`${focusedText} === ${JSON.stringify(title)}`);
    await this.sight.checkAccess();
  }

  /** Waits until the page says all of this. */
  async reads(...texts: string[]): Promise<void> {
    for (const text of texts) await this.sight.told(text);
  }

  /** That the focus is still on what was pressed, whatever came of it. */
  async keepsFocus(name: string): Promise<void> {
    expect(await this.sight.frame.evaluate(focusedText)).to.equal(name);
  }
}
