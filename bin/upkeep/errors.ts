import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('upkeep', {
  no_data: [
    'not_found',
    '{dataDir} is not an svc data folder: specify the folder with --data or SVC_DATA_DIR',
  ],
  foreign_file: ['invalid_argument', '{file} cannot be read as an SQLite database: {cause}.'],
  foreign_file_large: [
    'invalid_argument',
    '{file} is larger than {gigabytes} GB; copy the tables that are needed to a file of their own.',
  ],
  foreign_rows: ['invalid_argument', 'The table {table} of {file} has more than {max} rows.'],
  foreign_cell: [
    'invalid_argument',
    'The table {table} of {file} has a value of more than {kilobytes} kB.',
  ],
});
