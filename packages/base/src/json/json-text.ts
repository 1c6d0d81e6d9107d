/** In UTF-8 where it is bytes. */
export type JsonText = string | Buffer
