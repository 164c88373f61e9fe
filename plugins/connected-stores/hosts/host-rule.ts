import { type Static, Type } from 'typebox';

/** Rule of a person, as it is sent and stored. */
export const HostRule = Type.Object(
  {
    label: Type.String({ minLength: 1, maxLength: 200, examples: ['nodename'] }),
    regex: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        examples: ['(.+?)(?::\\d+)?'],
        description: 'Must match the whole value of the label. Default: (.*)',
      }),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ['$1'],
        description: 'Host name, which may refer to groups of the regex. Default: $1',
      }),
    ),
  },
  {
    description:
      "Takes the host name from a label of the host's series. nodename is always read from node_uname_info, whichever series it is needed for.",
  },
);
export type HostRule = Static<typeof HostRule>;
