/** What a type of records is for, in its owner's words (0-decisions.md section 3, "Record type body"). */
export const up = (knex) => knex.raw('alter table record_type add column description text');

export const down = (knex) => knex.raw('alter table record_type drop column description');
