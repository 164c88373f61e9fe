import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('bundler', {
  compile: ['invalid_argument', '{id} does not compile: {list}'],
  no_compiler: [
    'invalid_argument',
    '{id} is TypeScript source, which this build of svc cannot compile; build it first with "svc plugin build"',
  ],
  code_too_large: [
    'invalid_argument',
    '{id}: its code is larger than {maxBytes} MiB; read large data at run time instead of importing it',
  ],
  transform: ['invalid_argument', '{id} does not compile: {located}'],
  foreign_import: [
    'invalid_argument',
    '{id} does not compile: {from} imports {specifier}, which is not a file in its folder; a third-party pack may import only its own files, built-in Node modules and svc/sdk',
  ],
});
