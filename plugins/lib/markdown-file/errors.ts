import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('markdown-file', {
  front_matter: ['invalid_argument', '{file}: {list}'],
  field_renamed: ['invalid_argument', '{file}: {key} is not a field of a persona; use {meant}.'],
  unreadable: ['invalid_argument', '{file}: {reason}'],
  name_and_folder: [
    'invalid_argument',
    '{file}: name is "{name}" but the folder is "{folderName}"; they must be the same.',
  ],
  file_too_large: [
    'invalid_argument',
    'The file is larger than {maxBytes} KiB; move content that is not always needed into another file.',
  ],
  header_language: [
    'invalid_argument',
    'A header in {language} is not supported; write it in YAML.',
  ],
  first_line: [
    'invalid_argument',
    'The first line must be exactly ---, which opens the header, but it is {firstLine}.',
  ],
  header_open: [
    'invalid_argument',
    'The header is not closed; add a line below it that contains only ---.',
  ],
  closing_line: [
    'invalid_argument',
    'Line {line} begins with --- but has more text; the line that closes the header must be exactly ---.',
  ],
  blank_lines: [
    'invalid_argument',
    'The header has more than {maxBlankLines} blank lines in a row; remove them.',
  ],
  line: ['invalid_argument', 'Line {line}: {reason}'],
  one_document: ['invalid_argument', 'The header must be one YAML document.'],
  header_lines: ['invalid_argument', 'The header must consist of lines such as "name: my-name".'],
  too_deep: [
    'invalid_argument',
    'The header is nested more than {maxDepth} levels deep; reduce the nesting.',
  ],
  inexact_number: [
    'invalid_argument',
    'A number (read as {value}) cannot be stored exactly; quote it.',
  ],
  key: ['invalid_argument', 'The key "{key}" is not allowed in a header; rename or remove it.'],
  too_many_values: [
    'invalid_argument',
    'The header has more than {maxValues} values; move content that is not always needed into the body.',
  ],
});
