import { readText } from '../../src/cli/workflows/definition-file.js';

/** A step of a scenario: its words, and the text in YAML below it. */
interface Step {
  readonly text: string;
  readonly value: unknown;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

function valueOf(lines: readonly string[]): unknown {
  const { content, faults } = readText(lines.join('\n'));
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return content;
}

/** The scenarios of a feature in Gherkin, of which the specification uses this much. */
export function scenariosIn(feature: string): Scenario[] {
  const scenarios: { name: string; steps: Step[] }[] = [];
  let text: string[] | undefined;
  for (const line of feature.split('\n')) {
    const trimmed = line.trim();
    const steps = scenarios.at(-1)?.steps ?? [];
    const [, name] = /^Scenario: (.*)$/.exec(trimmed) ?? [];
    const [, words] = /^(?:Given|When|Then|And) (.*)$/.exec(trimmed) ?? [];
    if (text && trimmed !== '"""') text.push(line);
    else if (text) {
      const last = steps.pop();
      steps.push({ text: last?.text ?? '', value: valueOf(text) });
      text = undefined;
    } else if (trimmed === '"""yaml') text = [];
    else if (name !== undefined) scenarios.push({ name, steps: [] });
    else if (words !== undefined) steps.push({ text: words, value: undefined });
  }
  return scenarios;
}
