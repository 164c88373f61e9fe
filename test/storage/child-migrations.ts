/** Migrations that a process is killed in the middle of. */
export const migrationsOfChild = [
  {
    name: '001-init.sql',
    sql: "create table notes_note (id integer primary key, text text not null) strict; create index notes_by_text on notes_note (text); insert into notes_note (text) values ('a'), ('b')",
  },
  {
    name: '002-more.sql',
    sql: "alter table notes_note add column author text not null default ''; update notes_note set author = 'nobody'",
  },
];
