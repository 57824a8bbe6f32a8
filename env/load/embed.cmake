# Writes OUTPUT, a C file with the bytes of each of FILES as `const TyFile file_GAME_NAME`: NAME is that of a JSON file,
# and `howto` for HOWTO.md.
set(text "/* Made by embed.cmake from the files under env/games. */\n#include \"game.h\"\n")
foreach(file IN LISTS FILES)
    string(REGEX MATCH "games/([a-z0-9_]+)/(data/([a-z0-9_]+)\\.json|HOWTO\\.md)$" match ${file})
    set(game ${CMAKE_MATCH_1})
    set(name howto)
    if(CMAKE_MATCH_3)
        set(name ${CMAKE_MATCH_3})
    endif()
    file(READ ${file} bytes HEX)
    string(LENGTH ${bytes} digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes ${bytes})
    string(APPEND text
        "\nstatic const char ${game}_${name}[] = {${bytes}};\n"
        "extern const TyFile file_${game}_${name};\n"
        "const TyFile file_${game}_${name} = {\"${name}\", ${game}_${name}, ${size}};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
