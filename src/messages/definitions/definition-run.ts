/** The workflow of an execution as the database has it: each definition is one of its own. */
export const definitionWorkflow = (definitionId: string): string => `runDefinition/${definitionId}`;
