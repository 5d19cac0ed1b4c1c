import { expect } from 'chai';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Who writes a definition is offered what can stand where the cursor is. */
describe('completion in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  useConsole(story, (opened) => {
    visit = opened;
  });

  const area = 'document.activeElement';
  /** Writes the text with the cursor where ¦ is. */
  const write = async (text: string): Promise<void> => {
    const { page } = visit;
    await page.evaluate(`${area}.select()`);
    await page.keyboard.sendCharacter(text.replace('¦', ''));
    await page.evaluate(`${area}.setSelectionRange(${text.indexOf('¦')}, ${text.indexOf('¦')})`);
  };
  const ask = async (): Promise<void> => {
    await visit.page.keyboard.down('Control');
    await visit.page.keyboard.press('Space');
    await visit.page.keyboard.up('Control');
  };
  const written = async (): Promise<string> => String(await visit.page.evaluate(`${area}.value`));

  // spec/beyond.md R463
  it('offers names, kinds and values by keyboard, and leaves the text the focus', async () => {
    const { page } = visit;
    await visit.open('/console/workflows/new', 'Define a workflow');
    await visit.told('No fault: it can be published.');
    await visit.tabTo('Definition');
    await write('{"do": [{"first": {¦}}, {"second": {}}]}');
    await ask();
    await visit.find('listbox', 'Completions');
    await visit.told('arrow keys, then enter; escape closes.');
    const active = `document.getElementById(${area}.getAttribute('aria-activedescendant'))`;
    expect(await page.evaluate(`${active}.textContent`)).to.match(/^call/);
    await visit.inspect('workflow-completion');
    await page.keyboard.press('Enter');
    expect(await written()).to.equal('{"do": [{"first": {"call": }}, {"second": {}}]}');
    await page.keyboard.type('"htt');
    await visit.told('1 can stand here');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await written()).to.equal('{"do": [{"first": {"call": "http"}}, {"second": {}}]}');
    await write('{"do": [{"first": {"set": {}, "then": ¦}}, {"second": {}}]}');
    await ask();
    await visit.told('4 can stand here');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await written()).to.include('"then": "second"');
  });

  // spec/beyond.md R463
  it('knows the operations of the API, closes, and takes no key that is not its own', async () => {
    const { page } = visit;
    await visit.open('/console/workflows/new', 'Define a workflow');
    await visit.told('No fault: it can be published.');
    await visit.tabTo('Definition');
    const call = '"call": "durabill.operation", "with": {"operationId": "createCreditN¦"}';
    await write(`{"do": [{"first": {${call}}}]}`);
    await ask();
    await visit.find('option', 'createCreditNote Id of an operation of /openapi.json.');
    await page.keyboard.press('Escape');
    await visit.told('Ctrl and the space bar');
    await write('{"d¦"}');
    await page.keyboard.type('o');
    await visit.told('2 can stand here');
    await page.keyboard.press('Enter');
    expect(await written()).to.equal('{"do\n"}');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`${area}.tagName`)).not.to.equal('TEXTAREA');
  });
});
