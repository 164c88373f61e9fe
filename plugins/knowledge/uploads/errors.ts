import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_parser: [
    'unavailable',
    'the plugin programs, which reads PDF and Word documents, is not available; enable it, or upload .md or .txt',
  ],
  too_many_reads: [
    'rate_limited',
    'many files are being read at this moment; upload it again in a while',
  ],
  upload_cancelled: ['unavailable', 'the upload was given up before its turn came'],
  too_many_uploads: [
    'rate_limited',
    'many files are being uploaded at this moment; try again in a while',
  ],
  file_too_large: ['invalid_argument', 'the file is larger than {maxFile} MiB', 413],
  upload_fields: [
    'invalid_argument',
    'a document has at most 32 tags of 60 letters and a title of 200, and org_id is a number',
  ],
  file_field: [
    'invalid_argument',
    'the form needs one field "file" with a name of a file, and has another one',
  ],
  unknown_field: [
    'invalid_argument',
    'the form has a field {name}, which is not known; it takes file, {known}',
  ],
  field_twice: [
    'invalid_argument',
    'the field {name} is there twice, or longer than {maxFieldBytes} KiB',
  ],
  no_file_field: [
    'invalid_argument',
    'the form has no field "file"; send the file in one, as with curl -F file=@manual.pdf',
  ],
  no_boundary: ['invalid_argument', 'the Content-Type names no boundary of the form'],
  form_start: ['invalid_argument', 'the form does not begin with its boundary'],
  form_parts: [
    'invalid_argument',
    'a part of the form has no header or a long one, or there are more than {maxParts} parts',
  ],
  form_cut_off: ['invalid_argument', 'the form ends within a part; it was cut off on the way'],
  unnamed_part: ['invalid_argument', 'a part of the form does not say which field it is'],
  file_name_encoding: [
    'invalid_argument',
    'the name of the file is not encoded as its header says',
  ],
  field_encoding: ['invalid_argument', 'the field {field} is not UTF-8'],
});
