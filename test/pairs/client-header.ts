/** By which clients are counted. Where no limit is meant, every request is somebody else's. */
export const CLIENT_HEADER = 'x-client'
