import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('markdown-file', {
  front_matter: ['invalid_argument', '{file}: {list}'],
  field_renamed: ['invalid_argument', '{file}: {key} is no field of a persona; write {meant}'],
  unreadable: ['invalid_argument', '{file}: {reason}'],
  name_and_folder: [
    'invalid_argument',
    '{file}: name is "{name}" but the folder is "{folderName}"; they must be the same',
  ],
  file_too_large: [
    'invalid_argument',
    'the file is larger than {maxBytes} KiB; move what is not needed every time into a file of its own',
  ],
  header_language: ['invalid_argument', 'a header in {language} is not accepted; write it in YAML'],
  first_line: [
    'invalid_argument',
    'the first line must be exactly ---, the beginning of the header; it is {firstLine}',
  ],
  header_open: [
    'invalid_argument',
    'the header is never closed; put a line that is exactly --- below it',
  ],
  closing_line: [
    'invalid_argument',
    'line {line} begins with --- but has more on it; the line that closes the header must be exactly ---',
  ],
  blank_lines: [
    'invalid_argument',
    'the header has more than {maxBlankLines} blank lines in a row; remove them',
  ],
  line: ['invalid_argument', 'line {line}: {reason}'],
  one_document: ['invalid_argument', 'the header must be one YAML document'],
  header_lines: ['invalid_argument', 'the header must be made of lines such as "name: my-name"'],
  too_deep: [
    'invalid_argument',
    'the header is nested more than {maxDepth} levels deep; make it flatter',
  ],
  inexact_number: [
    'invalid_argument',
    'a number (read as {value}) cannot be kept exactly; quote it',
  ],
  key: ['invalid_argument', 'the key "{key}" is not accepted in a header; rename or remove it'],
  too_many_values: [
    'invalid_argument',
    'the header holds more than {maxValues} values; move what is not needed every time into the body',
  ],
});
