import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { accentOf, contrastOf } from '../../src/console/embed/accent.js';
import { formatsOf } from '../../src/console/embed/formats.js';
import { readOpening } from '../../src/console/embed/opening.js';
import { fill, languageOf, languages, type Language } from '../../src/console/embed/texts.js';

const names = Object.keys(languages) as Language[];

// spec/beyond.md R429
describe('languages of embeds', () => {
  const placesIn = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

  it('are the six, each with a file of its own', () => {
    const files = readdirSync('src/console/embed/texts').map((file) => file.replace('.ts', ''));
    expect(files.sort()).to.deep.equal(['ar', 'de', 'en', 'es', 'fr', 'ja']);
    expect([...names].sort()).to.deep.equal(files);
  });

  it('keep the sign of a currency together in a line from the right', () => {
    expect(formatsOf('ar').money('22', 'USD')).to.match(/22\.00\s\u2066US\$\u2069/);
    expect(formatsOf('en').money('22', 'USD')).to.equal('$22.00');
  });

  for (const name of names) {
    it(`have every text with the same places: ${name}`, async () => {
      const { texts: english } = await languages.en.load();
      const { texts } = await languages[name].load();
      expect(Object.keys(texts).sort()).to.deep.equal(Object.keys(english).sort());
      for (const key of Object.keys(english) as (keyof typeof english)[]) {
        expect(texts[key].trim(), key).to.not.equal('');
        expect(placesIn(texts[key]), key).to.deep.equal(placesIn(english[key]));
      }
    });
  }

  it('are no copies of English', async () => {
    const { texts: english } = await languages.en.load();
    const keys = Object.keys(english) as (keyof typeof english)[];
    for (const name of names.filter((one) => one !== 'en')) {
      const { texts } = await languages[name].load();
      const same = keys.filter((key) => texts[key] === english[key]);
      // Words that two languages share, such as Status and Total.
      expect(same.length, `${name}: ${same.join(', ')}`).to.be.below(9);
    }
  });

  it('are chosen by the address, then by the browser, then English', () => {
    expect(languageOf('ja', ['de'])).to.equal('ja');
    expect(languageOf('xx', ['pt-BR', 'fr-CA', 'de'])).to.equal('fr');
    expect(languageOf(null, ['pt'])).to.equal('en');
    expect(languageOf('constructor', [])).to.equal('en');
  });

  it('write figures and dates each in its way, without losing a digit', () => {
    const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');
    const amount = (language: Language): string =>
      plain(formatsOf(language).money('12345678901234.0123456789', 'EUR'));
    expect(amount('en')).to.equal('€12,345,678,901,234.0123456789');
    expect(amount('de')).to.equal('12.345.678.901.234,0123456789 €');
    expect(amount('fr')).to.equal('12 345 678 901 234,0123456789 €');
    expect(plain(formatsOf('en').money('1.5', 'credits'))).to.equal('1.5 credits');
    expect(formatsOf('de').day('2026-03-01')).to.equal('1. März 2026');
    expect(formatsOf('ja').day('2026-03-01')).to.equal('2026年3月1日');
    expect(formatsOf('es').instant('2026-03-31T23:59:59.000Z')).to.include('UTC');
    expect(formatsOf('en').day('2026-03-31')).to.equal('Mar 31, 2026');
  });

  it('fill places by their names, and leave what has no value', () => {
    expect(
      fill('{total} 件中 {first}～{last} 件', { first: '1', last: '20', total: '30' }),
    ).to.equal('30 件中 1～20 件');
    expect(fill('{a} {b}', { a: '{b}' })).to.equal('{b} {b}');
  });
});

// spec/beyond.md R430
describe("a tenant's colour", () => {
  it('stays where it is legible, and gets darker or lighter where it is not', () => {
    for (const given of ['#ffff00', '#00ff88', '#0a7d55', '#000000', '#ffffff', '#808080']) {
      const { light, dark } = accentOf(given) ?? expect.fail(given);
      for (const ground of ['#f3f5f9', '#ffffff', '#e3eafc']) {
        expect(contrastOf(light, ground), `${given} on ${ground}`).to.be.at.least(4.5);
      }
      for (const ground of ['#0f1420', '#1a2131', '#27345a']) {
        expect(contrastOf(dark, ground), `${given} on ${ground}`).to.be.at.least(4.5);
      }
    }
    expect(accentOf('005533')?.light).to.equal('#005533');
    expect(accentOf('#FFFFFF')?.dark).to.equal('#ffffff');
    // 21 by definition (WCAG 2.2): black on white.
    expect(contrastOf('#000000', '#ffffff')).to.equal(21);
  });

  it('is none where it is no colour', () => {
    for (const given of [null, '', 'red', '#12345', '#1234567', 'url(//evil)', '12345g']) {
      expect(accentOf(given)).to.equal(undefined);
    }
  });
});

// spec/beyond.md R428
describe('the address of an embed', () => {
  it('says token, language, theme, colour and page behind its #', () => {
    const fragment = '#token=a.b.c&language=ar&theme=dark&accent=005533&page=invoices';
    const { token, language, theme, accent, view } = readOpening(fragment, ['de']);
    expect({ token, language, theme, view }).to.deep.equal({
      token: 'a.b.c',
      language: 'ar',
      theme: 'dark',
      view: { page: 'invoices', id: undefined },
    });
    expect(accent?.light).to.equal('#005533');
  });

  it('says nothing by what it does not know', () => {
    const { token, theme, accent, view } = readOpening('#theme=loud&page=admin&accent=x', []);
    expect({ token, theme, accent, view }).to.deep.equal({
      token: undefined,
      theme: 'system',
      accent: undefined,
      view: { page: 'usage', id: undefined },
    });
  });
});
