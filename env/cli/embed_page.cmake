# Writes OUTPUT, a C file with the bytes of FILE as the string `NAME`. The file SCRIPT stands where FILE says @SCRIPT@.
cmake_minimum_required(VERSION 3.22) # otherwise @SCRIPT@ would be a variable
file(READ ${FILE} text)
file(READ ${SCRIPT} script)
string(REPLACE "@SCRIPT@" "${script}" text "${text}")
file(WRITE ${OUTPUT}.text "${text}")
file(READ ${OUTPUT}.text bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes ${bytes})
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {${bytes}0};\n")
