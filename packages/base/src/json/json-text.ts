/** JSON as a string or as UTF-8 bytes. */
export type JsonText = string | Buffer
