/** A chapter of the guide: a Markdown file of `docs/guide`, and where it is served. */
export interface Chapter {
  readonly file: string;
  readonly path: string;
  /** What others call it who link to it. */
  readonly name: string;
}

const chapter = (slug: string, name: string): Chapter => ({
  file: `${slug}.md`,
  path: `/docs/guide/${slug}`,
  name,
});

/** In the order in which they are read. */
export const chapters: readonly Chapter[] = [
  { file: 'README.md', path: '/docs/guide', name: 'Guide' },
  chapter('concepts', 'Concepts in one picture'),
  chapter('console', 'The console, by who uses it'),
  chapter('prices', 'Pricing cookbook'),
  chapter('llm', 'Models and tokens'),
  chapter('invoice', 'From event to invoice'),
  chapter('rejected', 'Mending what was rejected'),
  chapter('corrections', 'Correcting usage that was rated'),
  chapter('what-if', 'Trying prices before they hold'),
  chapter('balances', 'Prepaid money, holds and alerts'),
  chapter('adjustments', 'Discounts, minimums and commitments'),
  chapter('workflows', 'Workflows of your own'),
  chapter('workflow-language', 'What is taken of the Open Workflow Specification'),
  chapter('exports', 'Exports'),
  chapter('sign-in', 'Signing in with your organization'),
  chapter('erasure', 'Keeping, holding and erasing data'),
  chapter('families', 'Which API for what'),
  chapter('glossary', 'Glossary'),
];

/** Images of the chapters, by the names that Markdown has for them. */
export const images = [
  'concepts.svg',
  'workflow-credit-limit.svg',
  'workflow-dunning.svg',
  'workflow-large-contract.svg',
  'workflow-nightly-what-if.svg',
  'workflow-onboarding.svg',
  'workflow-promote-prices.svg',
];
