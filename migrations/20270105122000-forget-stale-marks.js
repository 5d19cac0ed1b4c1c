/**
 * Marks of a run of a task are of the values that it shows (docs/decisions/0458): a process of a version that
 * knows no marks changes the values alone, and what is sought would not be found behind the former marks.
 */
export async function up(knex) {
  await knex.raw(`
    create function forget_stale_marks() returns trigger language plpgsql as $$
    begin
      new.marks := null;
      return new;
    end $$;
    create trigger forget_stale_marks before update of input, output, error on workflow_task
      for each row when (new.marks is not null and new.marks is not distinct from old.marks
        and (new.input, new.output, new.error) is distinct from (old.input, old.output, old.error))
      execute function forget_stale_marks();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger forget_stale_marks on workflow_task;
    drop function forget_stale_marks();
  `);
}
