import type { ASTNode } from '@marcbachmann/cel-js';

/** Macros that visit each element of a list, with the place of the part that builds a value. */
export const macros: Readonly<Record<string, 'builds' | 'decides'>> = {
  map: 'builds',
  filter: 'decides',
  all: 'decides',
  exists: 'decides',
  exists_one: 'decides',
};

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'range' in value;

/** The nodes right below a node. */
export function childrenOf(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isNode(value)) found.push(value);
  };
  visit(node.args);
  return found;
}

export const isMacro = (node: ASTNode): boolean =>
  node.op === 'rcall' && Object.hasOwn(macros, node.args[0]);

/** Adds the variables that a node reads. */
export function variablesOf(node: ASTNode, hidden: ReadonlySet<string>, found: Set<string>): void {
  if (node.op === 'id' && !hidden.has(node.args)) found.add(node.args);
  if (node.op === 'rcall' && Object.hasOwn(macros, node.args[0])) {
    const [, receiver, [name, ...bodies]] = node.args;
    variablesOf(receiver, hidden, found);
    const own = name?.op === 'id' ? name.args : '';
    for (const body of bodies) variablesOf(body, new Set([...hidden, own]), found);
    return;
  }
  for (const child of childrenOf(node)) variablesOf(child, hidden, found);
}

/** The names after `variable.` wherever it is read; '*' where it is read as a whole. */
export function fieldsIn(node: ASTNode, variable: string): string[] {
  if (node.op === 'id') return node.args === variable ? ['*'] : [];
  const [first] = childrenOf(node);
  if (node.op === '.' && first?.op === 'id' && first.args === variable) return [node.args[1]];
  return childrenOf(node).flatMap((child) => fieldsIn(child, variable));
}

/** Whether a node gives on what its child is, without looking at it. */
function passesOn({ op, args }: ASTNode, child: number): boolean {
  if (op === '+' || op === 'list') return true;
  if (op === '?:') return child > 0;
  // Names and values in turn.
  if (op === 'map') return child % 2 === 1;
  return op === 'rcall' && (args[0] === 'map' ? child > 0 : args[0] === 'join' && child === 0);
}

/** Where a field of a variable is given to what looks at it. */
export function lookedAtIn(node: ASTNode, variable: string, isPassedOn = true): number[] {
  const children = childrenOf(node);
  const [first] = children;
  if (node.op === '.' && first?.op === 'id' && first.args === variable) {
    return isPassedOn ? [] : [node.range.start];
  }
  return children.flatMap((child, at) =>
    lookedAtIn(child, variable, isPassedOn && passesOn(node, at)),
  );
}
