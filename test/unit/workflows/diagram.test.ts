import { expect } from 'chai';
import { XmlDocument } from 'libxml2-wasm';
import { drawWorkflow } from '../../../src/api/presenters/diagram/workflow-diagram.js';
import { definitionLimits, type Task } from '../../../src/messages/definitions/definition.js';

const definitionOf = (
  tasks: readonly Readonly<Record<string, Task>>[],
  title = 'Large contracts',
) => ({
  document: { dsl: '1.0.0', namespace: 'acme', name: 'large', version: '1.0.0', title },
  do: tasks,
});

/** Whether a text is XML, and what is in it. */
function read(svg: string): {
  readonly texts: readonly string[];
  readonly names: ReadonlySet<string>;
} {
  const document = XmlDocument.fromString(svg);
  try {
    const found = (path: string) => document.find(path);
    return {
      texts: found('//*[local-name()="text" or local-name()="title"]').map(
        ({ content }) => content,
      ),
      names: new Set(found('//*').map((node) => ('name' in node ? String(node.name) : ''))),
    };
  } finally {
    document.dispose();
  }
}

const everyKind: readonly Readonly<Record<string, Task>>[] = [
  {
    judge: {
      switch: [
        { large: { when: '${ input.amount >= 10000 }', then: 'ask' } },
        { odd: { when: '${ input.odd }', then: 'exit' } },
        { small: { then: 'end' } },
      ],
    },
  },
  {
    look: {
      if: '${ input.known }',
      call: 'durabill.operation',
      with: { operationId: 'getAccount' },
    },
  },
  {
    ask: {
      call: 'durabill.approval',
      with: { title: 'Approve it?', timeout: 'P3D', onTimeout: 'reject' },
    },
  },
  {
    both: {
      fork: {
        branches: [
          { mail: { call: 'http', with: { method: 'POST', endpoint: 'https://crm.example/x' } } },
          { rest: { wait: { days: 3 } } },
        ],
      },
    },
  },
  {
    attempt: {
      try: [{ raiseIt: { raise: { error: { type: 'about:blank', status: 404, title: 'No' } } } }],
      catch: {
        errors: { with: { status: 404 } },
        do: [{ say: { emit: { event: { with: { type: 'x' } } } } }],
      },
    },
  },
  { each: { for: { in: '${ input.lines }' }, do: [{ keep: { set: { a: 1 } } }] } },
  { hear: { listen: { to: { one: { with: { type: 'invoice.posted' } } } } } },
  { inner: { do: [{ last: { set: {} } }] } },
];

describe('diagrams of workflows', () => {
  // spec/beyond.md R355
  it('show every kind of task, in a picture and in words', () => {
    const svg = drawWorkflow(definitionOf(everyKind));
    const { texts } = read(svg);
    const all = texts.join('\n');
    for (const name of everyKind.flatMap((item) => Object.keys(item))) expect(all).to.include(name);
    expect(all)
      .to.include('approval: Approve it?')
      .and.include('large: input.amount &gt;= 10000'.replace('&gt;', '>'));
    expect(texts[0]).to.equal('Large contracts');
    const [, told = ''] = /<desc[^>]*>(.*)<\/desc>/.exec(svg) ?? [];
    expect(told).to.include('1. judge: switch;').and.include('4.2. rest: wait 3 days.');
    expect(told).to.include('5.catch 1. say: emit x.');
  });

  it('have no markup of names, and no character that XML does not know', () => {
    const evil = '</text><script>alert(1)</script>&"\'\u0000\u0008\ud800';
    const svg = drawWorkflow(
      definitionOf(
        [
          { [evil]: { call: 'durabill.approval', with: { title: evil } } },
          { b: { if: evil, set: {} } },
        ],
        evil,
      ),
    );
    const { names, texts } = read(svg);
    expect([...names].sort()).to.deep.equal(
      [
        'circle',
        'defs',
        'desc',
        'g',
        'marker',
        'path',
        'rect',
        'style',
        'svg',
        'text',
        'title',
      ].sort(),
    );
    expect(texts[0]).to.equal('</text><script>alert(1)</script>&"\'');
  });

  it('are bounded, however large a definition may be', () => {
    const many = Array.from({ length: definitionLimits.tasks }, (_each, index) => ({
      [`task${index}`]: {
        switch: Array.from({ length: 10 }, (_one, at) => ({
          [`c${at}`]: { when: '${ input.x }', then: `task${Math.min(199, index + at + 2)}` },
        })),
      },
    }));
    let deep: Task = { set: {} };
    for (let depth = 1; depth < definitionLimits.depth; depth += 1) deep = { do: [{ deep }] };
    for (const tasks of [many, [{ deep }]]) {
      const begun = process.cpuUsage();
      const svg = drawWorkflow(definitionOf(tasks));
      expect(process.cpuUsage(begun).user).to.be.below(1_000_000);
      expect(svg.length).to.be.below(2_000_000);
      read(svg);
    }
  });
});
