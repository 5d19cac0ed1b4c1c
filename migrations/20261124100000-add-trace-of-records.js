/** The span (W3C `traceparent`) that published a record, where the process that did so traces. */
export const up = (knex) => knex.raw('alter table broker_record add column trace text');

export const down = (knex) => knex.raw('alter table broker_record drop column trace');
