import { SvcError } from 'svc/sdk';

import { textOf } from '../documents/plain-text.ts';

/** Type of a file, by its bytes. */
export type FileKind = 'text' | 'pdf' | 'docx';

const signatures: Readonly<Record<string, readonly string[]>> = {
  'a program': ['\x7fELF', 'MZ', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'],
  'an image': ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF'],
  'an archive': ['\x1f\x8b', 'BZh', '\xfd7zXZ', '7z\xbc\xaf', 'Rar!', '\x28\xb5\x2f\xfd'],
  'a database': ['SQLite format 3'],
};

/** Determines the type by the bytes, not the name; throws with what it is otherwise. */
export function kindOf(bytes: Uint8Array): FileKind {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  if (bytes.length === 0) {
    throw refusal('the file is empty');
  }
  // Some programs write a few bytes before the signature, and readers take that.
  if (start.includes('%PDF-')) {
    return 'pdf';
  }
  if (start.startsWith('PK\x03\x04')) {
    return 'docx';
  }
  if (start.startsWith('\xd0\xcf\x11\xe0')) {
    throw refusal(
      'the file is an old Word document, or one with a password; save it as .docx without a password, and upload that',
    );
  }
  if (start.startsWith('{\\rtf')) {
    throw refusal('the file is RTF; save it as .docx, .pdf or .txt, and upload that');
  }
  const known = Object.entries(signatures).find(([, beginnings]) =>
    beginnings.some((beginning) => start.startsWith(beginning)),
  );
  if (known) {
    throw refusal(`the file is ${known[0]}; .md, .txt, .pdf and .docx can be uploaded`);
  }
  return 'text';
}

/** Returns the text of a text file; throws if it is none. */
export function plainText(bytes: Uint8Array): string {
  const text = textOf(bytes);
  if (text === undefined) {
    throw refusal(
      'the file is neither text in UTF-8, UTF-16 or Latin-1 nor PDF nor .docx; save it as one of these',
    );
  }
  if (text.includes('\0')) {
    throw refusal(
      'the file is not text: it has bytes of zero in it; .md, .txt, .pdf and .docx can be uploaded',
    );
  }
  return text;
}

const refusal = (message: string): SvcError =>
  new SvcError('invalid_argument', message, { reason: 'knowledge.file_kind' });
