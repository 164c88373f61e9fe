import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_parser: [
    'unavailable',
    'The programs plugin, which reads PDF and Word documents, is not available; only .md and .txt files can be uploaded.',
  ],
  too_many_reads: [
    'rate_limited',
    'Too many files are being processed; upload this one again in a moment.',
  ],
  is_export: [
    'invalid_argument',
    'The file is an export of many documents; import it with POST /api/v1/knowledge/import.',
  ],
  no_export: [
    'invalid_argument',
    'The file is one document, not an export of Confluence or Notion; upload it with POST /api/v1/knowledge/upload.',
  ],
  upload_cancelled: ['unavailable', 'The upload was cancelled before it was processed.'],
  too_many_uploads: ['rate_limited', 'Too many files are being uploaded; try again in a moment.'],
  file_too_large: ['invalid_argument', 'The file is larger than {maxFile} MiB.', 413],
  upload_fields: [
    'invalid_argument',
    'A document may have at most 32 tags of up to 60 characters each and a title of up to 200 characters; org_id must be a number.',
  ],
  file_field: [
    'invalid_argument',
    'The form has a second field "file"; send only one, with a file name.',
  ],
  unknown_field: [
    'invalid_argument',
    'The form has an unknown field {name}; known fields: file, {known}.',
  ],
  field_twice: [
    'invalid_argument',
    'The field {name} is repeated, or longer than {maxFieldBytes} KiB.',
  ],
  no_file_field: [
    'invalid_argument',
    'The form has no field "file"; send the file in a field of that name, as in curl -F file=@manual.pdf.',
  ],
  no_boundary: ['invalid_argument', 'The Content-Type has no boundary.'],
  form_start: ['invalid_argument', 'The form does not begin with its boundary.'],
  form_parts: [
    'invalid_argument',
    'A part of the form has a missing or overlong header, or there are more than {maxParts} parts.',
  ],
  form_cut_off: ['invalid_argument', 'The form is truncated within a part.'],
  unnamed_part: ['invalid_argument', 'A part of the form has no field name.'],
  file_name_encoding: [
    'invalid_argument',
    'The file name does not match the encoding that its header declares.',
  ],
  field_encoding: ['invalid_argument', 'The field {field} is not UTF-8.'],
});
