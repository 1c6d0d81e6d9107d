import { configureGlobal } from 'fast-check'

// CI draws the same cases each time, so that a change is judged by what it changes; a run by hand draws others.
configureGlobal({ seed: 1 })
